import Tactus

extension Latest {
  /// What its loop has published last.
  var newest: Element {
    var reader = self.reader()
    return reader.read()
  }
}
