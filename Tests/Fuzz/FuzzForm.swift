// Modules: Serialization Multipart
import Dispatch
import FoundationEssentials
import HTTPTypes
import LinnetMultipart
import LinnetSerialization

/// Writes a form of the lines of the input, and reads it back: the parts have the written names, types and bytes, and
/// the body has its declared length. The first byte determines the size of chunks and which fields are sent.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzForm(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 1 else { return 0 }
    let lines = UnsafeBufferPointer(start: data + 1, count: count - 1).split(
        separator: 0x0A, maxSplits: 40, omittingEmptySubsequences: false)
    var form = MultipartForm()
    (form.addsExtendedFileNames, form.chunkSize) = (data[0] & 1 == 1, Int(data[0] >> 1) + 1)
    var written: [Part] = []
    for start in stride(from: 0, to: lines.count, by: 4) {
        let line = { (offset: Int) in start + offset < lines.count ? Array(lines[start + offset]) : [] }
        let part = Part(name: line(0), fileName: line(1), contentType: line(2), body: line(3))
        form.append(part.body, name: part.name, fileName: part.fileName, contentType: part.contentType)
        written.append(part)
    }
    let body = form.makeBody()
    guard (try? form.validate()) != nil else {
        guard read(body) == nil else { fatalError("An invalid form can be read.") }
        return 0
    }
    guard let bytes = read(body), body.length == Int64(bytes.count) else { fatalError("The body has another length.") }
    var limits = MultipartParser.Limits()
    limits.maximumHeaderBytes = 1 << 20
    guard let parts = try? MultipartPart.all(in: bytes, contentType: form.contentType, limits: limits) else {
        fatalError("The form cannot be read: \(bytes)")
    }
    guard parts.count == written.count else { fatalError("\(parts.count) parts are read, not \(written.count).") }
    for (read, part) in zip(parts, written) {
        guard read.body == part.body else { fatalError("The bytes of \(part) are others.") }
        guard read.name.map(plain) == plain(part.name), read.fileName.map(plain) == part.fileName.map(plain) else {
            fatalError("\(part) is read as \(read.name ?? "nil"), \(read.fileName ?? "nil").")
        }
        guard read.headerFields[.contentType] == part.contentType?.trimmed else {
            fatalError("The type of \(part) is another.")
        }
        guard read.headerFields.count == (part.contentType == nil ? 1 : 2) else {
            fatalError("\(part) has other fields.")
        }
    }
    return 0
}

private struct Part {
    let name: String
    /// Nil for none.
    let fileName: String?
    let contentType: String?
    let body: Data

    init(name: [UInt8], fileName: [UInt8], contentType: [UInt8], body: [UInt8]) {
        // The lines themselves cannot contain a line feed.
        self.name = String(decoding: name.map { $0 == 0x0B ? 0x0A : $0 }, as: UTF8.self)
        self.fileName =
            fileName.isEmpty ? nil : String(decoding: fileName.map { $0 == 0x0B ? 0x0A : $0 }, as: UTF8.self)
        self.contentType = contentType.isEmpty ? nil : String(decoding: contentType, as: UTF8.self)
        self.body = Data(body.map { $0 == 0x0B ? 0x0A : $0 })
    }
}

/// The escapes of forms are not escaped themselves, so that a text and its escaped form are one. Nor are backslashes: a
/// reader takes a pair of them for one where other clients would have escaped it.
private func plain(_ text: String) -> String {
    let backslash = UInt8(ascii: "\\")
    var bytes = text.utf8.reduce(into: [UInt8]()) { bytes, byte in
        if byte != backslash || bytes.last != backslash { bytes.append(byte) }
    }[...]
    var plain: [UInt8] = []
    while let byte = bytes.popFirst() {
        let escape = String(decoding: bytes.prefix(2), as: UTF8.self).uppercased()
        guard byte == UInt8(ascii: "%"), let character = ["22": "\"", "0D": "\r", "0A": "\n"][escape] as String? else {
            plain.append(byte)
            continue
        }
        plain += Array(character.utf8)
        bytes = bytes.dropFirst(2)
    }
    return String(decoding: plain, as: UTF8.self)
}

extension String {
    /// Without the blanks at the ends of a field's value.
    fileprivate var trimmed: String {
        let start = utf8.drop { $0 == 0x20 || $0 == 0x09 }
        let end = start.lastIndex { $0 != 0x20 && $0 != 0x09 }
        return end.map { String(decoding: start[...$0], as: UTF8.self) } ?? ""
    }
}

private final class Box: @unchecked Sendable {
    // SAFETY: the semaphore orders the only write before the only read.
    var value: Data?
}

/// The whole body; nil if it cannot be read.
private func read(_ body: HTTPRequestBody) -> Data? {
    let (box, isDone) = (Box(), DispatchSemaphore(value: 0))
    Task.detached {
        defer { isDone.signal() }
        var bytes = Data()
        do {
            var reader = try body.makeReader()
            while let chunk = try await reader.next() { bytes.append(chunk) }
            box.value = bytes
        } catch {}
    }
    isDone.wait()
    return box.value
}
