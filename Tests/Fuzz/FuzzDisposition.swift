// Modules: Serialization Multipart
import FoundationEssentials
import LinnetMultipart

/// Parses the input as the Content-Disposition of a part. The result contains no control characters except those that
/// forms escape; without escapes, the names equal the results of a simple reader.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDisposition(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let body =
        Data("--B\r\nContent-Disposition: ".utf8) + Data(UnsafeBufferPointer(start: data, count: count))
        + Data("\r\n\r\n\r\n--B--".utf8)
    var limits = MultipartParser.Limits()
    limits.maximumHeaderBytes = 65_536
    let type = "multipart/form-data; boundary=B"
    guard let parts = try? MultipartPart.all(in: body, contentType: type, limits: limits) else { return 0 }
    for part in parts {
        guard part.name?.utf8.contains(0) != true else { fatalError("A name contains a NUL character.") }
        checkPlainNames(UnsafeBufferPointer(start: data, count: count), part)
        _ = (part.fileName, part.contentType, part.byteRange)
    }
    return 0
}

/// The names in a field that consists of letters, digits, `=`, `;`, blanks and whole quoted values.
private func checkPlainNames(_ field: UnsafeBufferPointer<UInt8>, _ part: MultipartPart) {
    let isPlain = { (byte: UInt8) in
        0x30...0x39 ~= byte || 0x61...0x7A ~= byte || " =;\"".utf8.contains(byte)
    }
    guard field.allSatisfy(isPlain) else { return }
    var values: [String: String] = [:]
    for piece in String(decoding: field, as: UTF8.self).split(separator: ";", omittingEmptySubsequences: false)
        .dropFirst()
    {
        let sides = piece.split(separator: "=", omittingEmptySubsequences: false).map(trimmed)
        guard sides.count == 2 else {
            if sides.count == 1, !sides[0].contains("\"") { continue }
            return
        }
        let quotes = sides[1].count { $0 == "\"" }
        let isQuoted = quotes == 2 && sides[1].first == "\"" && sides[1].last == "\""
        guard quotes == 0 || isQuoted, !sides[0].contains("\"") else { return }
        if values[sides[0]] == nil { values[sides[0]] = isQuoted ? String(sides[1].dropFirst().dropLast()) : sides[1] }
    }
    let type = trimmed(field.prefix { $0 != UInt8(ascii: ";") }.map { Character(Unicode.Scalar($0)) }[...])
    guard !type.isEmpty else { return }
    guard part.name == values["name"], part.fileName == values["filename"] else {
        fatalError("The names are \(part.name ?? "nil") and \(part.fileName ?? "nil"), not \(values).")
    }
}

private func trimmed(_ text: some BidirectionalCollection<Character>) -> String {
    let start = text.drop { $0 == " " }
    let end = start.lastIndex { $0 != " " }
    return end.map { String(start[...$0]) } ?? ""
}
