import HTTPTypes

extension APIError {
  /// The response that carries the error: `{"ok":false,"code":…,"message":…,"field":…}`.
  public var response: APIResponse {
    var response = APIResponse.json(
      Document(ok: false, code: code, message: message, field: field), status: status)
    response.headers = headers
    return response
  }

  private struct Document: Encodable {
    let ok: Bool
    let code: String
    let message: String
    let field: String?
  }
}
