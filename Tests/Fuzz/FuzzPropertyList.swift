// Modules: Serialization
import FoundationEssentials
import LinnetSerialization

/// Reads what the fuzzer makes as a property list, in XML or binary.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPropertyList(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard let value = try? PropertyListValue(parsing: Data(UnsafeBufferPointer(start: data, count: count))) else {
        return 0
    }
    for format in [PropertyListFormat.xml, .binary] { _ = try? value.data(format: format) }
    return 0
}
