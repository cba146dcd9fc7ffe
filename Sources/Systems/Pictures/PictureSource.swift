/// The interface through which other systems take a picture with a system's camera. The value may be used from any
/// thread.
public struct PictureSource: Sendable {
  /// Returns one picture as a JPEG. If the camera is not running, it is started for this; that takes some seconds.
  ///
  /// Throws `APIError` with the reason if there is no picture.
  public let take: @Sendable () async throws -> [UInt8]

  /// Creates the interface from a closure, which is called on any thread.
  public init(take: @escaping @Sendable () async throws -> [UInt8]) { self.take = take }
}
