import CServiceDocuments

/// The files that the service serves unchanged, built into the program by the target `CServiceDocuments`.
public enum ServiceDocuments {
  /// The paths of all files below this target's folder, in no particular order.
  public static var names: [String] { files.map { String(cString: $0.name) } }

  /// The names of the files of the folder `Console`, which make up the page.
  public static var page: [String] {
    let folder = "Console/"
    return names.filter { $0.hasPrefix(folder) }.map { String($0.dropFirst(folder.count)) }
  }

  /// Returns a copy of a file.
  ///
  /// - Parameter name: one of `names`; any other name traps.
  public static func bytes(_ name: String) -> [UInt8] {
    guard let file = files.first(where: { String(cString: $0.name) == name }) else {
      preconditionFailure("\(name) is not built into the program")
    }
    return Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
  }

  private static var files: UnsafeBufferPointer<service_document> {
    var count = 0
    let first = service_documents(&count)
    return UnsafeBufferPointer(start: first, count: count)
  }
}
