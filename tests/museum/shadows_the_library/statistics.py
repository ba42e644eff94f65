def median(data):
    return 1e-9
