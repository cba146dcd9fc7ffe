import HTTPTypes

/// The caller that was admitted, and its token or certificate, which is checked again as long as the connection lasts.
struct WebSocketAdmission {
  let caller: Caller
  /// The request with the token; never logged.
  let request: HTTPRequest
  /// The certificate that was shown on the connection, or `nil` if none was.
  let certificate: ClientCertificate?

  /// Checks the token again and returns its caller.
  ///
  /// - Throws: the error with which the doorman refuses the same request now.
  func admittedAgain(by shared: ServiceChannel.Shared) throws(APIError) -> Caller {
    try shared.admit(request, caller.address, certificate, .read)
  }
}
