import Foundation
import ServiceDocuments
import Testing

@Suite("The files that are built into the program")
struct ServiceDocumentsTests {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Sources/ServiceDocuments")

  @Test("every file of the folder is built in, under its own name, as it is now")
  func everyFile() throws {
    let paths = try FileManager.default.subpathsOfDirectory(atPath: Self.folder.path)
      .filter { $0.contains(".") && !$0.hasSuffix(".swift") }
    #expect(ServiceDocuments.names.sorted() == paths.sorted())
    for name in ServiceDocuments.names {
      let isSame = try Data(contentsOf: Self.folder.appending(path: name)) == Data(ServiceDocuments.bytes(name))
      #expect(isSame, "\(name): what is built in is another file, or an older one")
    }
  }

  @Test("every file of the page is known by its name in the folder Console")
  func page() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.appending(path: "Console").path)
    #expect(ServiceDocuments.page.sorted() == files.sorted())
  }
}
