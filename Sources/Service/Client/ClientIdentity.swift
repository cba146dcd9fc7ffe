/// The certificate that a client shows to a server that asks for one, instead of a token.
public struct ClientIdentity: Sendable {
  /// The path of the certificate in PEM, followed by those that lead to the server's authority.
  let certificate: String
  /// The path of its private key in PEM, without a password.
  let key: String

  /// Names the files, which are read when a client is made.
  public init(certificate: String, key: String) { (self.certificate, self.key) = (certificate, key) }
}
