def cuts(total, step):
    return [(low, min(low + step, total)) for low in range(0, total, step)]
