/// The streams that are not closed, in the order of their numbers. Numbers only grow, and streams are few, so that a sorted
/// array finds one faster than a table by hash.
struct HTTP2StreamTable<Value> {
    private(set) var numbers: [Int] = []
    private var values: [Value] = []

    var count: Int { numbers.count }

    /// Where a stream is, for as long as none comes or goes.
    func index(of number: Int) -> Int? {
        var (low, high) = (0, numbers.count)
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low < numbers.count && numbers[low] == number ? low : nil
    }

    subscript(index: Int) -> Value {
        get { values[index] }
        _modify { yield &values[index] }
    }

    /// Takes a stream whose number is above all others.
    mutating func append(_ number: Int, _ value: Value) {
        numbers.append(number)
        values.append(value)
    }

    @discardableResult
    mutating func remove(at index: Int) -> Value {
        numbers.remove(at: index)
        return values.remove(at: index)
    }
}
