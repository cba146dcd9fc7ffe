import HTTPTypes

/// The caller of something that lasts longer than its request is read, such as a WebSocket or a stream, with what admitted it: the token or
/// certificate is checked again as long as it lasts.
struct LastingAdmission: Sendable {
  let caller: Caller
  /// The request with the token; never logged.
  let request: HTTPRequest
  /// The certificate that was shown on the connection, or `nil` if none was.
  let certificate: ClientCertificate?
  /// The scope that is needed for as long as it lasts, or `nil` if no token is needed.
  var scope: Scope? = .read
  /// Whether it also ends when the caller's scope has changed: true where the caller may act, since the scope says in what way.
  var keepsScope = false

  /// Checks the token again. Returns the code of the error with which the same request would be refused now, `TOKEN_CHANGED` if it
  /// would be admitted with a scope that is not the caller's, or `nil` if all is as it was.
  func refusal(by admit: ServiceChannel.Admission) -> String? {
    do throws(APIError) {
      let again = try admit(request, caller.address, certificate, scope)
      return keepsScope && again.scope != caller.scope ? "TOKEN_CHANGED" : nil
    } catch {
      return error.code
    }
  }
}
