/// A device system: everything that the daemon has to know of it, declared once.
public protocol DeviceSystem: SendableMetatype {
  /// The section of the file, `/api/NAME`.
  static var name: String { get }
}
