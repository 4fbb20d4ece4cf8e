/// Sorts by the UTF-8 bytes of names: compares the first eight bytes at once, and the rest only if those are equal.
enum NameOrder {
    /// The elements sorted by name; the sort is stable.
    static func sorted<Element>(_ elements: [Element], by name: (Element) -> String) -> [Element] {
        guard elements.count > 1 else { return elements }
        var places: [Place] = []
        places.reserveCapacity(elements.count)
        var isSorted = true
        for (index, element) in elements.enumerated() {
            let place = Place(prefix: prefix(of: name(element)), index: index)
            if isSorted, let last = places.last, precedes(place, last, in: elements, by: name) { isSorted = false }
            places.append(place)
        }
        if isSorted { return elements }
        places.sort { precedes($0, $1, in: elements, by: name) }
        return places.map { elements[$0.index] }
    }

    private struct Place {
        /// The first eight bytes, big endian, padded with zeros.
        let prefix: UInt64
        let index: Int
    }

    private static func precedes<Element>(
        _ left: Place, _ right: Place, in elements: [Element], by name: (Element) -> String
    ) -> Bool {
        if left.prefix != right.prefix { return left.prefix < right.prefix }
        let (leftName, rightName) = (name(elements[left.index]).utf8, name(elements[right.index]).utf8)
        if leftName.lexicographicallyPrecedes(rightName) { return true }
        return left.index < right.index && !rightName.lexicographicallyPrecedes(leftName)
    }

    private static func prefix(of name: String) -> UInt64 {
        var prefix: UInt64 = 0
        var shift: UInt64 = 64
        for byte in name.utf8.prefix(8) {
            shift -= 8
            prefix |= UInt64(byte) << shift
        }
        return prefix
    }
}
