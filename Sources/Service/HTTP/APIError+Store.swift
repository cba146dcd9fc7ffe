import Store

extension APIError {
  static let storeFailedCode = "STORE_FAILED"
  private static let unchanged = "nothing was changed: "

  /// 503: the disk does not take it.
  static func storeFailed(_ error: StoreError) -> APIError {
    APIError(.serviceUnavailable, storeFailedCode, "\(unchanged)\(error)")
  }

  /// Of `storeFailed`: the store's own words.
  var storeReason: String {
    message.hasPrefix(Self.unchanged) ? String(message.dropFirst(Self.unchanged.count)) : message
  }
}

/// What is read from the store. - Throws: 503 `STORE_FAILED` with the store's reason.
func stored<Value>(_ read: () throws(StoreError) -> Value) throws(APIError) -> Value {
  do throws(StoreError) {
    return try read()
  } catch {
    throw APIError(.serviceUnavailable, APIError.storeFailedCode, "\(error)")
  }
}
