import TactusDaemon

DaemonProgram.tactus.main()
