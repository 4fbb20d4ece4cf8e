// Modules: Serialization Multipart
// Sources: Modules/Session/Resume/ContentRange.swift
import FoundationEssentials
import LinnetMultipart

/// Reads what the fuzzer makes as Content-Range fields, one a line, by both readers of them, which must agree.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRange(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: data, count: count), as: UTF8.self)
    for line in text.split(separator: "\n").prefix(16).map(String.init) {
        let range = ContentRange(line)
        if let bytes = range?.bytes {
            guard bytes.lowerBound >= 0, range?.complete.map({ $0 > bytes.upperBound }) ?? true else {
                fatalError("\(line) is a range that there cannot be.")
            }
            _ = bytes.count
        }
        guard let part = MultipartPart.ByteRange(line) else { continue }
        // The part's reader takes tabs, too.
        guard line.contains("\t") || part.bytes == range?.bytes && part.completeLength == range?.complete else {
            fatalError("\(line) is read in two ways.")
        }
    }
    return 0
}
