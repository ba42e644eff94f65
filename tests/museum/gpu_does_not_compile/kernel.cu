#include <torch/extension.h>

torch::Tensor run(torch::Tensor a, torch::Tensor b) { return at::mm(a, undeclared); }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
