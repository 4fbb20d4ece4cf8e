// Modules: Serialization
import FoundationEssentials
import LinnetSerialization

/// Reads what the fuzzer makes as a property list, in XML or binary. What is written of it is read again, within the reader's
/// limits, and written the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPropertyList(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard let value = try? PropertyListValue(parsing: Data(UnsafeBufferPointer(start: data, count: count))) else {
        return 0
    }
    for format in [PropertyListValue.Format.xml, .binary] {
        guard let written = try? value.data(format: format) else { continue }
        guard let again = try? PropertyListValue(parsing: written), (try? again.data(format: format)) == written else {
            fatalError("A property list is not read again as it was written.")
        }
    }
    return 0
}
