package model

import (
	"bytes"
	"fmt"
	"math/big"
	"strings"

	"weir"
)

// Price is what a million tokens cost, in millionths of a US dollar: what one
// token costs in 10⁻¹² dollars. Written in JSON and TOML it is a decimal number
// of dollars, of which six places count. Zero is not known.
type Price int64

// priceDigits are the places of a price that count.
const priceDigits = 6

// mostPrice is a million dollars: more is a mistake in the unit.
const mostPrice = 1_000_000 * 1_000_000

// Rates are the prices of the four counts of [weir.Usage].
type Rates struct {
	Input      Price `json:"input"`
	Output     Price `json:"output"`
	CacheRead  Price `json:"cache_read"`
	CacheWrite Price `json:"cache_write"`
}

// Prices are what a model's tokens cost. Where a vendor takes more for long
// requests, those whose input is over LongAbove tokens are priced by Long
// altogether.
type Prices struct {
	Rates
	LongAbove int64 `json:"long_above"` // tokens; 0: no request is long
	Long      Rates `json:"long"`
}

// Cost returns what a step cost in US dollars, exactly, as a decimal number;
// "" when a price that it takes is not known.
func (p Prices) Cost(u weir.Usage) string {
	rates := p.Rates
	if p.LongAbove > 0 && over(p.LongAbove, u.Fresh, u.Read, u.Write) {
		rates = p.Long
	}
	sum, priced := new(big.Int), false
	for _, c := range []struct {
		count int64
		price Price
	}{{u.Fresh, rates.Input}, {u.Output, rates.Output}, {u.Read, rates.CacheRead}, {u.Write, rates.CacheWrite}} {
		if c.count <= 0 {
			continue
		}
		if c.price <= 0 {
			return ""
		}
		sum.Add(sum, new(big.Int).Mul(big.NewInt(c.count), big.NewInt(int64(c.price))))
		priced = true
	}
	if !priced {
		return ""
	}
	return decimal(sum, 2*priceDigits)
}

// over reports whether counts together are more than a limit. None of them is
// trusted to leave room for a sum.
func over(limit int64, counts ...int64) bool {
	for _, n := range counts {
		if n > limit {
			return true
		}
		limit -= max(n, 0)
	}
	return false
}

// decimal writes n · 10^-places without needless zeros.
func decimal(n *big.Int, places int) string {
	digits := n.String()
	if len(digits) <= places {
		digits = strings.Repeat("0", places-len(digits)+1) + digits
	}
	whole, rest := digits[:len(digits)-places], strings.TrimRight(digits[len(digits)-places:], "0")
	if rest == "" {
		return whole
	}
	return whole + "." + rest
}

// MarshalJSON writes the decimal number of dollars.
func (p Price) MarshalJSON() ([]byte, error) {
	return []byte(decimal(big.NewInt(int64(p)), priceDigits)), nil
}

// UnmarshalJSON reads a decimal number of dollars.
func (p *Price) UnmarshalJSON(raw []byte) error {
	refused := fmt.Errorf("%s is not a price: write dollars for a million tokens, such as 2.5", raw)
	if len(raw) > 40 || bytes.ContainsAny(raw, "eE/_") {
		return refused
	}
	n, ok := new(big.Rat).SetString(string(raw))
	if !ok {
		return refused
	}
	n.Mul(n, big.NewRat(1_000_000, 1))
	if !n.IsInt() || n.Sign() < 0 || !n.Num().IsInt64() || n.Num().Int64() > mostPrice {
		return refused
	}
	*p = Price(n.Num().Int64())
	return nil
}

// String is the decimal number of dollars.
func (p Price) String() string { return decimal(big.NewInt(int64(p)), priceDigits) }
