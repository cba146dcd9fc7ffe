import TactusDaemon

/// `AdoptSupport` calls it before the tests begin. The list of systems is the program's own file, linked here.
@_cdecl("adopt_tested_program")
public func adoptTestedProgram() { DaemonProgram.tactus.adopt() }
