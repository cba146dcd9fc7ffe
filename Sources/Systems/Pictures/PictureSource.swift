/// A system's offer to other systems to take one picture with its camera. The value may be used from any thread.
public struct PictureSource: Sendable {
  /// Returns one picture as a JPEG. If the camera is not running, it is started for this; that takes some seconds.
  ///
  /// Throws `APIError` with the reason if there is no picture.
  public let take: @Sendable () async throws -> [UInt8]

  /// The closure is called on any thread.
  public init(take: @escaping @Sendable () async throws -> [UInt8]) { self.take = take }
}
