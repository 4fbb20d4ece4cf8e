// Testable: Transport
import HTTPTypes
import NIOCore

@testable import LinnetTransport

/// Decodes the input as the field blocks of one connection, each preceded by two bytes with its length. A decoded block
/// that is encoded again decodes to the same fields.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHPACK(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    var rest = [UInt8](UnsafeBufferPointer(start: data, count: count))[...]
    var decoder = HTTP2FieldDecoder(maximumListSize: 16_384)
    var (encoder, mirror) = (HTTP2FieldEncoder(), HTTP2FieldDecoder(maximumListSize: 65_536))
    while rest.count > 2 {
        let length = Int(rest.removeFirst()) << 8 | Int(rest.removeFirst())
        let block = Array(rest.prefix(length))
        rest = rest.dropFirst(length)
        guard let section = decode(block, &decoder) else { return 0 }
        guard section.bytes <= 16_384 else { fatalError("A section exceeds the limit.") }
        guard section.flaw == nil else { continue }
        let lines = section.fields.map { HTTP2FieldEncoder.Line(name: $0.name.canonicalName, value: octets($0)) }
        var buffer = ByteBuffer()
        encoder.encode(lines, into: &buffer)
        let again = decode(Array(buffer.readableBytesView), &mirror)
        guard let again, again.flaw == nil, again.fields.map(\.name.canonicalName) == lines.map(\.name),
            again.fields.map(octets) == lines.map(\.value)
        else {
            fatalError("Encoded fields do not decode to themselves.")
        }
    }
    return 0
}

/// The octets of a value, each as a character. `value` decodes them as UTF-8, which does not keep them.
private func octets(_ field: HTTPField) -> String {
    field.withUnsafeBytesOfValue { String(String.UnicodeScalarView($0.map(Unicode.Scalar.init))) }
}

private func decode(_ block: [UInt8], _ decoder: inout HTTP2FieldDecoder) -> HTTP2FieldSection? {
    block.withUnsafeBytes { bytes in try? decoder.decode(bytes) }
}
