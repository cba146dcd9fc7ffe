TITLE = "Idle"
def run(context): raise NotImplementedError
