import TactusDaemon

@testable import TactusProgram

/// `AdoptSupport` calls it before the tests begin.
@_cdecl("adopt_tested_program")
func adoptTestedProgram() { DaemonProgram.tactus.adopt() }
