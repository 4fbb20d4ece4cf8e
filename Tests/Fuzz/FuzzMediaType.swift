// Modules: Serialization
import FoundationEssentials
import LinnetSerialization

/// Parses the input as content types, one per line. A type that is written from its parts parses to itself.
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
            let parameters = type.parameters.map { ";\($0.name)=\"\(escaped($0.value))\"" }
            guard MIMEType(type.essence + parameters.joined()) == type else {
                fatalError("\(type) with \(parameters) does not parse to itself.")
            }
            guard type.parameters.allSatisfy({ type.parameter($0.name.uppercased()) == $0.value }) else {
                fatalError("\(type) does not find its parameters.")
            }
            _ = (type.matches(last), type.parameter("charset"), type.parameter(last))
        }
        last = line
    }
    return 0
}

/// The content of a quoted string: quotes and backslashes are escaped.
private func escaped(_ value: String) -> String {
    String(String.UnicodeScalarView(value.unicodeScalars.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] }))
}
