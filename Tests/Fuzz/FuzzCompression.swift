// Modules: Compression Brotli Zstandard
import FoundationEssentials
import LinnetBrotli
import LinnetCompression
import LinnetZstandard

/// Decodes the input after its first byte, which chooses the codings, whole and in pieces, which must agree; and reads
/// it as the value of Content-Encoding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCompression(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let all: [ContentCoding] = [.gzip, .deflate, .brotli, .zstandard]
    let input = Data(UnsafeBufferPointer(start: data, count: count))
    if let named = try? ContentCoding.codings(in: String(decoding: input, as: UTF8.self), among: all) {
        let again = try? ContentCoding.codings(in: named.map(\.name).joined(separator: ", "), among: all)
        guard again == named else { fatalError("The codings \(named) are not read as they were written.") }
    }
    guard let choice = input.first else { return 0 }
    let content = input.dropFirst()
    let codings = [all[Int(choice) % 4]] + (choice & 0x80 == 0 ? [] : [all[Int(choice >> 2) % 4]])
    let whole = decode(content, codings, by: content.count)
    let inPieces = decode(content, codings, by: 1 + Int(choice >> 4))
    guard whole == inPieces else { fatalError("Pieces of \(codings) become something else.") }
    return 0
}

/// The decoded content; nil if it is not valid.
private func decode(_ content: Data, _ codings: [ContentCoding], by size: Int) -> Data? {
    let limit = 1 << 20
    let limits = DecodingLimits {
        $0.maximumSize = Int64(limit)
        // It depends on how many bytes have arrived.
        $0.maximumRatio = nil
    }
    guard let decoder = try? ContentDecoder(codings, limits: limits) else { return nil }
    var (rest, decoded) = (content, Data())
    do {
        while !rest.isEmpty {
            decoder.append(rest.prefix(size))
            rest = rest.dropFirst(size)
            while let piece = try decoder.next() { decoded.append(piece) }
        }
        try decoder.finish()
    } catch {
        return nil
    }
    guard decoded.count <= limit else { fatalError("The limit of \(limit) bytes is exceeded.") }
    return decoded
}
