def run(x, norm_weight):
    return x * norm_weight
