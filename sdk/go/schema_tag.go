package airlock

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// apply adds a rule of the tag schema, for example minLength=1.
func (s *schema) apply(rule string) error {
	keyword, value, _ := strings.Cut(rule, "=")
	var err error
	switch keyword {
	case "minLength":
		s.MinLength, err = s.count(value, "string")
	case "maxLength":
		s.MaxLength, err = s.count(value, "string")
	case "minItems":
		s.MinItems, err = s.count(value, "array")
	case "maxItems":
		s.MaxItems, err = s.count(value, "array")
	case "minimum":
		s.Minimum, err = s.number(value)
	case "maximum":
		s.Maximum, err = s.number(value)
	case "format":
		s.Format = value
	case "enum":
		s.Enum, err = s.values(value)
	default:
		err = fmt.Errorf("unknown keyword")
	}
	if err != nil {
		return fmt.Errorf("the rule %q of the tag schema: %w", rule, err)
	}
	return nil
}

func (s *schema) count(text, wanted string) (*uint64, error) {
	if s.Type != wanted {
		return nil, fmt.Errorf("the field is not of type %s", wanted)
	}
	count, err := strconv.ParseUint(text, 10, 32)
	return &count, err
}

func (s *schema) number(text string) (*json.Number, error) {
	if s.Type != "integer" && s.Type != "number" {
		return nil, fmt.Errorf("the field is not a number")
	}
	_, err := strconv.ParseFloat(text, 64)
	number := json.Number(text)
	return &number, err
}

func (s *schema) values(text string) ([]any, error) {
	var values []any
	for value := range strings.SplitSeq(text, "|") {
		switch s.Type {
		case "string":
			values = append(values, value)
		case "integer", "number":
			if _, err := s.number(value); err != nil {
				return nil, err
			}
			values = append(values, json.Number(value))
		default:
			return nil, fmt.Errorf("the field is neither a string nor a number")
		}
	}
	return values, nil
}

// limit gives the least (-1) or the greatest (1) value of an integer type; none of those that JSON
// can't be sure of.
func limit(t reflect.Type, side int) *json.Number {
	signed := t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64
	bits := t.Bits()
	var text string
	switch {
	case !signed && side < 0:
		text = "0"
	case bits > 32 || t.Kind() == reflect.Int || t.Kind() == reflect.Uint:
		return nil
	case !signed:
		text = strconv.FormatUint(math.MaxUint64>>(64-bits), 10)
	case side < 0:
		text = strconv.FormatInt(math.MinInt64>>(64-bits), 10)
	default:
		text = strconv.FormatInt(math.MaxInt64>>(64-bits), 10)
	}
	number := json.Number(text)
	return &number
}
