/// A name that is compared by its UTF-8 bytes. Swift's `String` considers canonically equivalent names equal.
package struct NameBytes: Hashable {
    @usableFromInline package let name: String

    @inlinable package init(_ name: String) { self.name = name }

    @inlinable package static func == (left: NameBytes, right: NameBytes) -> Bool {
        left.name.utf8.count == right.name.utf8.count && left.name.utf8.elementsEqual(right.name.utf8)
    }

    @inlinable package func hash(into hasher: inout Hasher) {
        var name = name
        name.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
