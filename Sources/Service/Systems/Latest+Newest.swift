import Tactus

extension Latest {
  /// What its loop has published last.
  public var newest: Element {
    var reader = self.reader()
    return reader.read()
  }
}
