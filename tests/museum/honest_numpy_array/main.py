def run(x):
    return x.numpy().mean(axis=1)
