public import Foundation  // JSONSerialization, PropertyListSerialization
internal import LinnetSerialization
internal import Synchronization

/// Writes parameters as JSON into the body, and into the query of GET, HEAD and DELETE.
open class AFJSONRequestSerializer: AFHTTPRequestSerializer, @unchecked Sendable {
    /// Creates a serializer.
    public convenience init(writingOptions: JSONSerialization.WritingOptions) {
        self.init()
        self.writingOptions = writingOptions
    }

    /// How JSON is written: `.prettyPrinted` and `.sortedKeys`.
    open var writingOptions: JSONSerialization.WritingOptions {
        get { state.withLock { $0.writingOptions } }
        set { state.withLock { $0.writingOptions = newValue } }
    }

    override func serializer(_ state: State) -> any RequestSerializer {
        var serializer = JSONRequestSerializer()
        serializer.settings = state.settings
        serializer.options = JSONValue.WritingOptions(
            sortsKeys: state.writingOptions.contains(.sortedKeys),
            isPretty: state.writingOptions.contains(.prettyPrinted))
        return serializer
    }

    override var isLenient: Bool { false }
}

/// Writes parameters as a property list into the body, and into the query of GET, HEAD and DELETE.
open class AFPropertyListRequestSerializer: AFHTTPRequestSerializer, @unchecked Sendable {
    /// Creates a serializer. The write options have no effect, as in AFNetworking.
    public convenience init(
        format: PropertyListSerialization.PropertyListFormat, writeOptions: PropertyListSerialization.WriteOptions
    ) {
        self.init()
        self.format = format
        self.writeOptions = writeOptions
    }

    /// The format: `.xml`, or `.binary`.
    open var format: PropertyListSerialization.PropertyListFormat {
        get { state.withLock { $0.format } }
        set { state.withLock { $0.format = newValue } }
    }

    /// Without effect, as in AFNetworking.
    open var writeOptions: PropertyListSerialization.WriteOptions {
        get { state.withLock { $0.writeOptions } }
        set { state.withLock { $0.writeOptions = newValue } }
    }

    override func serializer(_ state: State) -> any RequestSerializer {
        var serializer = PropertyListRequestSerializer()
        serializer.settings = state.settings
        serializer.format = state.format == .binary ? .binary : .xml
        return serializer
    }

    override func fault(in value: Any) -> String? {
        switch value {
        case let values as [String: Any]: values.values.lazy.compactMap { self.fault(in: $0) }.first
        case is [AnyHashable: Any]: "The key of a dictionary is no string."
        case let values as [Any]: values.lazy.compactMap { self.fault(in: $0) }.first
        default: nil
        }
    }
}
