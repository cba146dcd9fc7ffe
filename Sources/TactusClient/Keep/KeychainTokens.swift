#if canImport(Security)
  import Foundation
  import Security

  /// Stores tokens in the keychain, readable on this device once it has been unlocked after its start.
  public struct KeychainTokens: TokenStorage {
    /// An error of the keychain.
    public struct Failure: Error, Equatable {
      /// The status, which `SecCopyErrorMessageString` explains.
      public var status: Int32
    }

    private let service: String

    /// Creates the storage.
    /// - Parameter service: the service name of the app's entries in the keychain.
    public init(service: String = "tactus") { self.service = service }

    private func query(_ endpoint: Endpoint) -> [CFString: Any] {
      [
        kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: endpoint.keptAs,
      ]
    }

    /// Returns the token of a daemon, or `nil` if none is stored.
    public func token(for endpoint: Endpoint) throws -> String? {
      var query = query(endpoint)
      query[kSecReturnData] = true
      var found: CFTypeRef?
      let status = SecItemCopyMatching(query as CFDictionary, &found)
      if status == errSecItemNotFound { return nil }
      guard status == errSecSuccess, let data = found as? Data else { throw Failure(status: status) }
      return String(decoding: data, as: UTF8.self)
    }

    /// Stores the token of a daemon.
    public func keep(_ token: String, for endpoint: Endpoint) throws {
      try forget(endpoint)
      var item = query(endpoint)
      item[kSecValueData] = Data(token.utf8)
      item[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
      let status = SecItemAdd(item as CFDictionary, nil)
      guard status == errSecSuccess else { throw Failure(status: status) }
    }

    /// Removes the token of a daemon.
    public func forget(_ endpoint: Endpoint) throws {
      let status = SecItemDelete(query(endpoint) as CFDictionary)
      guard status == errSecSuccess || status == errSecItemNotFound else { throw Failure(status: status) }
    }
  }
#endif
