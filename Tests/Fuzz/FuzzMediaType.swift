// Modules: Serialization
import FoundationEssentials
import LinnetSerialization

/// Parses the input as content types, one per line.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMediaType(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: data, count: count), as: UTF8.self)
    var last = "*/*"
    for line in text.split(separator: "\n").prefix(16).map(String.init) {
        if let type = MIMEType(line) {
            guard type.matches(type.essence), type.matches("*/*") else { fatalError("\(type) does not match itself.") }
            guard MIMEType(type.essence)?.essence == type.essence else {
                fatalError("\(type) does not parse to itself.")
            }
            _ = (type.matches(last), type.parameter("charset"), type.parameter(last))
        }
        last = line
    }
    return 0
}
