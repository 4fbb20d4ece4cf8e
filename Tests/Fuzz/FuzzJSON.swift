// Modules: Serialization
import FoundationEssentials
import LinnetSerialization

/// Reads what the fuzzer makes as JSON. Whatever comes, there is a value or an error, and the value is written and read
/// again as the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJSON(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Data(UnsafeBufferPointer(start: data, count: count))
    guard let value = try? JSONValue(parsing: bytes) else { return 0 }
    let written = value.data()
    guard let again = try? JSONValue(parsing: written), again == value else {
        fatalError("A value is not read as it was written.")
    }
    _ = value.removingNullValues()
    return 0
}
