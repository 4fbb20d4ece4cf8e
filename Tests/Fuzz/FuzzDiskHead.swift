// Modules: Cache
// Sources: Modules/DiskCache/Index/HeadCoding.swift
import FoundationEssentials
import HTTPTypes
import LinnetCache

/// Decodes the input as the head and as the variant of an entry on disk, which are encoded as they were decoded; and
/// makes a head of its lines, which is decoded with the same octets.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDiskHead(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Data(UnsafeBufferPointer(start: data, count: count))
    if let head = HeadCoding.decode(input) {
        let again = HeadCoding.encode(head)
        guard HeadCoding.decode(again) == head, HeadCoding.encode(head) == again else {
            fatalError("Coding changes the head.")
        }
        // Every byte has a meaning, except in a reason phrase that is not UTF-8.
        guard again == input || String(validating: input, as: UTF8.self) == nil else {
            fatalError("Two texts are one head.")
        }
        guard HeadCoding.decode(input + [0]) == nil, HeadCoding.decode(input.dropLast()) == nil else {
            fatalError("A head that was cut, or has more, is accepted.")
        }
    }
    if let variant = VariantCoding.decode(input) {
        guard let again = try? VariantCoding.encode(variant), VariantCoding.decode(again) == variant else {
            fatalError("Coding changes the variant.")
        }
    }
    guard count > 2 else { return 0 }
    let head = head(of: input)
    let encoded = HeadCoding.encode(head)
    guard let decoded = HeadCoding.decode(encoded), decoded.status.code == head.status.code,
        decoded.status.reasonPhrase == head.status.reasonPhrase, octets(decoded) == octets(head)
    else { fatalError("A head is decoded as another.") }
    return 0
}

private func head(of input: Data) -> HTTPResponse {
    let lines = input.dropFirst(2).split(separator: 0x0A, omittingEmptySubsequences: false)
    let code = 100 + (Int(input[0]) << 8 | Int(input[1])) % 900
    let reason = String(decoding: lines.first ?? Data(), as: UTF8.self)
    var head = HTTPResponse(status: HTTPResponse.Status(code: code, reasonPhrase: reason))
    for line in lines.dropFirst() {
        let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let name = HTTPField.Name(String(decoding: parts[0], as: UTF8.self)) else { continue }
        head.headerFields.append(HTTPField(name: name, lenientValue: parts[1]))
    }
    return head
}

private func octets(_ head: HTTPResponse) -> [[UInt8]] {
    head.headerFields.flatMap { field in [Array(field.name.rawName.utf8), field.withUnsafeBytesOfValue { Array($0) }] }
}
