/// A name or an index in a coding path.
package struct TreeKey: CodingKey {
    package let stringValue: String
    package let intValue: Int?

    /// Creates a name.
    package init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    package init?(stringValue: String) { self.init(stringValue) }

    package init?(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }

    /// Creates the place of an element in an array.
    package init(index: Int) {
        stringValue = "[\(index)]"
        intValue = index
    }

    package static let superclass = TreeKey("super")
}
