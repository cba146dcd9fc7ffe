/// The files that the service serves as they are, built into the program.
public enum ServiceDocuments {
  /// The description of the API, without the program's version.
  public static var openAPI: [UInt8] {
    guard let file = EmbeddedText.files.first(where: { $0.name == "openapi.json" }) else {
      preconditionFailure("openapi.json is not in the program")
    }
    return Array(file.text.utf8)
  }

  /// The page: each file of the folder `Console` with its name.
  public static var page: [(name: String, bytes: [UInt8])] {
    EmbeddedText.files.filter { $0.name.hasPrefix("Console/") }
      .map { (String($0.name.dropFirst("Console/".count)), Array($0.text.utf8)) }
  }
}
