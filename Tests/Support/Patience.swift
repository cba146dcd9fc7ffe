/// How long a test waits, in milliseconds, for what must come: long enough for a machine under load, since only a defect
/// makes it pass.
public let patience: Int32 = 60_000
