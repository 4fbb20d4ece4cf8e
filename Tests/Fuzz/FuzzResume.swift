// Testable: Session
import FoundationEssentials

@testable import LinnetSession

/// Decodes the input as resume data; a decoded value is encoded and decodes to itself.
///
/// If the input begins with an odd byte, it is a value and edits of its encoding instead: an edited encoding is
/// refused, or is the same value.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzResume(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: data, count: count)
    guard let first = bytes.first else { return 0 }
    if first & 1 == 0 {
        guard let value = try? ResumeData(decoding: Data(bytes.dropFirst())) else { return 0 }
        guard decoded(value.encoded()) == value else { fatalError("The encoded value does not decode to itself.") }
    } else {
        edit(Array(bytes.dropFirst()))
    }
    return 0
}

private func edit(_ bytes: [UInt8]) {
    var rest = bytes[...]
    let entityTag = text(&rest, quotes: true)
    let lastModified = text(&rest, quotes: false)
    let received = Int64(rest.popFirst() ?? 0) + 1
    let total = rest.popFirst().map { Int64($0) + received }
    guard let url = URL(string: "https://example.com/a?b=c") else { fatalError("The URL is not one.") }
    let value = ResumeData(
        url: url, entityTag: entityTag, lastModified: lastModified,
        partialFile: URL(filePath: "/var/part"), receivedBytes: received, totalBytes: total,
        digest: String(repeating: "0a", count: 32))
    guard value.flaw == nil else { return }
    var document = value.encoded()
    guard decoded(document) == value else { fatalError("The encoded value does not decode to itself.") }
    while let high = rest.popFirst(), let low = rest.popFirst(), let byte = rest.popFirst() {
        let index = (Int(high & 0x7F) << 8 | Int(low)) % document.count
        if high & 0x80 == 0 { document[index] = byte } else { document.insert(byte, at: index) }
    }
    guard let edited = decoded(document) else { return }
    guard edited == value else { fatalError("An edited value is accepted.") }
}

/// Takes a text of up to 31 characters of ASCII; nil if its length is zero.
private func text(_ rest: inout ArraySlice<UInt8>, quotes: Bool) -> String? {
    let length = Int(rest.popFirst() ?? 0) & 0x1F
    guard length > 0 else { return nil }
    let text = String(decoding: rest.prefix(length).map { $0 & 0x7F }, as: UTF8.self)
    rest = rest.dropFirst(length)
    return quotes ? "\"\(text)\"" : text
}

private func decoded(_ document: Data) -> ResumeData? {
    try? ResumeData(decoding: document)
}
