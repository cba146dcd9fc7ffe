import Tactus

extension Latest {
  /// The value that the loop has published last.
  public var newest: Element {
    var reader = self.reader()
    return reader.read()
  }
}
