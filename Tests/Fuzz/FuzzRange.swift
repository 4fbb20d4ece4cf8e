// Modules: Serialization Multipart
// Sources: Modules/Session/Resume/ContentRange.swift
import FoundationEssentials
import LinnetMultipart

/// Parses the input as Content-Range fields, one per line, with both parsers, which must agree.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRange(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: data, count: count), as: UTF8.self)
    for line in text.split(separator: "\n").prefix(16).map(String.init) {
        let range = ContentRange(line)
        if let bytes = range?.bytes {
            guard bytes.lowerBound >= 0, range?.complete.map({ $0 > bytes.upperBound }) ?? true else {
                fatalError("\(line) is an impossible range.")
            }
            _ = bytes.count
        }
        guard let part = MultipartPart.ByteRange(line) else { continue }
        // The parser of parts also accepts tabs.
        guard line.contains("\t") || part.bytes == range?.bytes && part.completeLength == range?.complete else {
            fatalError("The parsers disagree about \(line).")
        }
    }
    return 0
}
