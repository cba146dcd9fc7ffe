import HTTPTypes

/// The caller that was let in, and its token, which is checked again as long as the connection lasts.
struct WebSocketAdmission {
  let caller: Caller
  /// With the token. Never logged.
  let request: HTTPRequest

  /// - Throws: what the doorman says to the same request now.
  func admittedAgain(by shared: ServiceChannel.Shared) throws(APIError) -> Caller {
    try shared.admit(request, caller.address, .read)
  }
}
