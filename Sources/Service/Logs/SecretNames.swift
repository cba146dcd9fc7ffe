/// The names whose values are secrets.
public enum SecretNames {
  private static let endings = [
    "token", "password", "passwd", "passphrase", "pwd", "secret", "credential", "credentials",
  ]
  .map { Array($0.utf8) }
  private static let authorization = Array("authorization".utf8)
  private static let key = Array("key".utf8)

  /// Returns whether a name stands for a secret: `token`, `accessToken`, `mqtt_password`, `Authorization`, `api-key`,
  /// but not `tokenId`. ASCII case is ignored.
  public static func isSecret(_ name: some Collection<UInt8>) -> Bool {
    isAuthorization(name) || isKey(name) || endings.contains { endsWith($0, name) }
  }

  static func isAuthorization(_ name: some Collection<UInt8>) -> Bool { endsWith(authorization, name) }

  /// Returns whether a name ends in `key`. In prose "key: …" often precedes harmless text, so only `=` makes the rest a value.
  static func isKey(_ name: some Collection<UInt8>) -> Bool { endsWith(key, name) }

  static func endsWith(_ ending: [UInt8], _ name: some Collection<UInt8>) -> Bool {
    name.count >= ending.count && name.suffix(ending.count).elementsEqual(ending) { lowercased($0) == $1 }
  }

  static func lowercased(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte + 32 : byte }
}
