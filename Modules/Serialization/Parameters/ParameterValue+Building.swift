extension ParameterValue {
    /// The value of a name, if this is a dictionary that has it: the last if there are several.
    ///
    /// Setting replaces the first in its place and removes the others, appends if there was none, and with nil removes.
    /// What was no dictionary becomes one.
    public subscript(key: String) -> ParameterValue? {
        get {
            guard case .dictionary(let entries) = self else { return nil }
            let key = NameBytes(key)
            return entries.last { NameBytes($0.key) == key }?.value
        }
        set {
            var entries: [Entry] = []
            if case .dictionary(let present) = self { entries = present }
            self = .null
            entries.set(key, newValue)
            self = .dictionary(entries)
        }
    }

    /// The value of a name, and `default` if there is none; what is changed in it is set.
    public subscript(key: String, default value: @autoclosure () -> ParameterValue) -> ParameterValue {
        get { self[key] ?? value() }
        set { self[key] = newValue }
    }

    /// The element at an index, if this is an array or a set that has it. Setting an index that is not there does
    /// nothing.
    public subscript(index: Int) -> ParameterValue? {
        get {
            switch self {
            case .array(let values), .set(let values):
                guard values.indices.contains(index) else { return .none }
                return values[index]
            default: return .none
            }
        }
        set {
            // A `nil` beside values is null, since null is written so.
            guard let newValue, case .some = self[index] else { return }
            switch self {
            case .array(var values):
                values[index] = newValue
                self = .array(values)
            case .set(var values):
                values[index] = newValue
                self = .set(values)
            default: break
            }
        }
    }

    /// Adds an element at the end of an array or a set; what was neither becomes an array of this one.
    public mutating func append(_ value: ParameterValue) {
        switch self {
        case .array(var values):
            self = .null
            values.append(value)
            self = .array(values)
        case .set(var values):
            self = .null
            values.append(value)
            self = .set(values)
        default: self = .array([value])
        }
    }
}

extension [ParameterValue.Entry] {
    fileprivate mutating func set(_ key: String, _ value: ParameterValue?) {
        let name = NameBytes(key)
        let place = firstIndex { NameBytes($0.key) == name }
        removeAll { NameBytes($0.key) == name }
        if let value { insert(Element(key, value), at: place ?? count) }
    }
}
