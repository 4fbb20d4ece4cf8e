// Modules: JSON
import FoundationEssentials
import LinnetJSON

/// Parses the input as JSON. Every input leads to a value or an error, and an encoded value parses to itself.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJSON(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Data(UnsafeBufferPointer(start: data, count: count))
    guard let value = try? JSONValue(parsing: bytes) else { return 0 }
    let written = value.data()
    guard let again = try? JSONValue(parsing: written), again == value else {
        fatalError("An encoded value does not parse to itself.")
    }
    _ = value.removingNullValues()
    return 0
}
