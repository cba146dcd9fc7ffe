import Store

extension APIError {
  /// The `code` of every 503 whose cause is the store.
  public static let storeFailedCode = "STORE_FAILED"
  private static let unchanged = "nothing was changed: "

  /// 503: the disk does not take it.
  public static func storeFailed(_ error: StoreError) -> APIError {
    APIError(.serviceUnavailable, storeFailedCode, "\(unchanged)\(words(error))")
  }

  /// 503: what is asked for, or needed for it, is in a store that could not be read.
  ///
  /// - Parameter failure: what came of reading it; the file knows better why it is not open.
  public static func storeNotRead(_ file: StoreFile, _ failure: String?) -> APIError {
    let reason = file.trouble.map(words) ?? failure ?? "\(file.path): is being opened"
    return APIError(.serviceUnavailable, storeFailedCode, "the store could not be read: \(reason)")
  }

  /// What is wrong, and the way out of it.
  static func words(_ error: StoreError) -> String { "\(error); to go on: \(error.wayOut)" }

  /// Of `storeFailed`: the store's own words.
  public var storeReason: String {
    message.hasPrefix(Self.unchanged) ? String(message.dropFirst(Self.unchanged.count)) : message
  }
}

/// What is read from the store. - Throws: 503 `STORE_FAILED` with the store's reason.
public func stored<Value>(_ read: () throws(StoreError) -> Value) throws(APIError) -> Value {
  do throws(StoreError) {
    return try read()
  } catch {
    throw APIError(.serviceUnavailable, APIError.storeFailedCode, APIError.words(error))
  }
}
