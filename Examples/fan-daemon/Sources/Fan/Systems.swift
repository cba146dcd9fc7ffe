import TactusDaemon

/// The systems of both programs: the daemon, and the swarm that plays random histories against it.
public let systems: [any DeviceSystem.Type] = [Fan.self]
