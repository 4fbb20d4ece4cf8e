extension QueryEncoder {
    /// How an array's elements are named.
    public struct ArrayStyle: Sendable, Hashable, Codable {
        enum Kind: String, Sendable, Codable { case brackets, indices, repeated, commaSeparated }
        let kind: Kind

        /// `a[]=1&a[]=2`
        ///
        /// For an array of dictionaries, `a[][b]=1&a[][c]=2`, a reader such as Rack begins a new element where a name
        /// comes again. What it would put into another element, as in `[{"b": 1}, {"c": 2}]`, is an error with
        /// ``SerializationError/Code/invalidParameters``, and wants ``indices``. An array of arrays is written as
        /// AFNetworking does, which tells no reader where each of them ends.
        public static let brackets = ArrayStyle(kind: .brackets)
        /// `a[0]=1&a[1]=2`
        public static let indices = ArrayStyle(kind: .indices)
        /// `a=1&a=2`
        public static let repeated = ArrayStyle(kind: .repeated)
        /// `a=1,2`; a comma within an element is percent-encoded, and elements must be plain values.
        public static let commaSeparated = ArrayStyle(kind: .commaSeparated)
    }

    /// How a name within a dictionary is joined to the dictionary's.
    public struct NestingStyle: Sendable, Hashable, Codable {
        enum Kind: String, Sendable, Codable { case brackets, dots }
        let kind: Kind

        /// `a[b]=1`
        public static let brackets = NestingStyle(kind: .brackets)
        /// `a.b=1`
        public static let dots = NestingStyle(kind: .dots)
    }

    /// How truth values are written.
    public struct BoolStyle: Sendable, Hashable, Codable {
        enum Kind: String, Sendable, Codable { case digits, words }
        let kind: Kind

        /// `1` and `0`
        public static let digits = BoolStyle(kind: .digits)
        /// `true` and `false`
        public static let words = BoolStyle(kind: .words)
    }

    /// How null is written.
    public struct NullStyle: Sendable, Hashable, Codable {
        enum Kind: String, Sendable, Codable { case bareKey, emptyValue, dropped }
        let kind: Kind

        /// `a`
        public static let bareKey = NullStyle(kind: .bareKey)
        /// `a=`
        public static let emptyValue = NullStyle(kind: .emptyValue)
        /// Nothing.
        public static let dropped = NullStyle(kind: .dropped)
    }

    /// How an array, a set or a dictionary without anything in it is written.
    public struct EmptyCollectionStyle: Sendable, Hashable, Codable {
        enum Kind: String, Sendable, Codable { case dropped, bareKey, emptyValue }
        let kind: Kind

        /// Nothing.
        public static let dropped = EmptyCollectionStyle(kind: .dropped)
        /// `a[]` for an array in ``ArrayStyle/brackets`` and ``ArrayStyle/indices``, otherwise `a`.
        public static let bareKey = EmptyCollectionStyle(kind: .bareKey)
        /// `a[]=` for an array in ``ArrayStyle/brackets`` and ``ArrayStyle/indices``, otherwise `a=`.
        public static let emptyValue = EmptyCollectionStyle(kind: .emptyValue)
    }

    /// How a space is written.
    public struct SpaceStyle: Sendable, Hashable, Codable {
        enum Kind: String, Sendable, Codable { case percentEncoded, plus }
        let kind: Kind

        /// `%20`
        public static let percentEncoded = SpaceStyle(kind: .percentEncoded)
        /// `+`, as HTML forms do
        public static let plus = SpaceStyle(kind: .plus)
    }
}
