import Store

extension APIError {
  /// The `code` of every 503 whose cause is the store.
  public static let storeFailedCode = "STORE_FAILED"
  private static let unchanged = "nothing was changed: "

  /// Returns a 503: the change could not be written to the store.
  public static func storeFailed(_ error: StoreError) -> APIError {
    APIError(.serviceUnavailable, storeFailedCode, "\(unchanged)\(words(error))")
  }

  /// Returns a 503: the data that the request needs is in a store that could not be read.
  ///
  /// - Parameter failure: the result of reading the store, or `nil` if it has not been read yet. If the file could not
  ///   be opened, its own reason is used instead.
  public static func storeNotRead(_ file: StoreFile, _ failure: String?) -> APIError {
    let reason = file.trouble.map(words) ?? failure ?? "\(file.path): is being opened"
    return APIError(.serviceUnavailable, storeFailedCode, "the store could not be read: \(reason)")
  }

  /// Returns the failure and its remedy in words.
  static func words(_ error: StoreError) -> String { "\(error); to go on: \(error.wayOut)" }

  /// The reason that the store gave, for an error made by `storeFailed`.
  public var storeReason: String {
    message.hasPrefix(Self.unchanged) ? String(message.dropFirst(Self.unchanged.count)) : message
  }
}

/// Returns the value that `read` reads from the store.
///
/// - Throws: 503 `STORE_FAILED` with the store's reason.
public func stored<Value>(_ read: () throws(StoreError) -> Value) throws(APIError) -> Value {
  do throws(StoreError) {
    return try read()
  } catch {
    throw APIError(.serviceUnavailable, APIError.storeFailedCode, APIError.words(error))
  }
}
