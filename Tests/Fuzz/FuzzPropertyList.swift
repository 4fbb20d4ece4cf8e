// Modules: Serialization
import FoundationEssentials
import LinnetSerialization

/// Parses the input as an XML or binary property list. An encoded list parses again, within the reader's limits, and
/// encodes to the same bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPropertyList(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard let value = try? PropertyListValue(parsing: Data(UnsafeBufferPointer(start: data, count: count))) else {
        return 0
    }
    for format in [PropertyListValue.Format.xml, .binary] {
        guard let written = try? value.data(format: format) else { continue }
        guard let again = try? PropertyListValue(parsing: written), (try? again.data(format: format)) == written else {
            fatalError("An encoded property list does not parse to itself.")
        }
    }
    return 0
}
